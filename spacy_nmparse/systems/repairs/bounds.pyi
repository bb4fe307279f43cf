# Nothing of this module can be imported from Python; see revision_bounds.pxd.
