# Nothing of this module can be imported from Python; see complete.pxd.
