"""VOC's annotations: `annotation` reads the XML of an image, `voc` gives the rows of folders."""
