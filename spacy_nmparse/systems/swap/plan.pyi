# Nothing of this module can be imported from Python; see swap_plan.pxd.
