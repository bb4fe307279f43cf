# Nothing of this module can be imported from Python; see covington_costs.pxd.
