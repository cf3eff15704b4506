"""`adc/view/`: `test_record` (steps and memory), `test_facts` (the document), `test_page` (in a
browser)."""
