# Nothing of this module can be imported from Python; see move_tree.pxd.
