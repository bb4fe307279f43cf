# Nothing of this module can be imported from Python; see covington_nonmonotonic.pxd.
