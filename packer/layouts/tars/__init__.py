"""Tars of samples: `source` reads them, `parts` knows and joins the splits of several."""
