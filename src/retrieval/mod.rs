//! Filters, fusion, calibration, packing → evidence snapshot.
