"""TopDown over a geographic hierarchy, at the size of a census (Bailie et al. 2024; Bailie, Gong and Meng 2023)."""
