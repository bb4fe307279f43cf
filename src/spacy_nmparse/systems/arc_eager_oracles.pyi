# Nothing of this module can be imported from Python; see arc_eager_oracles.pxd.
