int space_shims_present;
