# Nothing of this module can be imported from Python; see tape.pxd.
