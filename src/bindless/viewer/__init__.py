"""Looking at pictures and volumes of any size: drawing from bricks, a page for browsers, and notebooks."""
