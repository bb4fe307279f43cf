"""Systems, oracles and commands for one paper or one experiment. They come through entry points
(setup.cfg), as those of other packages do; nothing else of this package imports them."""
