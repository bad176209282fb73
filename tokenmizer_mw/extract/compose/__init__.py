"""The labels of findings: completes them if they are too short to be understood later, cleans and checks them."""
