"""Runs one search with Maude. Prints Maude's output, and the labels of the rules that lead to a solution.

usage: run.py MODULE.maude... SEARCH.maude
"""
import os
import re
import sys
import tempfile

import maude

maude.init(advise=False)
*modules, search = sys.argv[1:]
for module in modules:
    if not maude.load(module):
        sys.exit(f'Maude cannot read {module}')

with tempfile.TemporaryDirectory() as folder:
    heard = os.path.join(folder, 'heard')
    shown = os.dup(1)
    with open(heard, 'w') as file:
        os.dup2(file.fileno(), 1)
        maude.load(search)
        os.dup2(shown, 1)
    with open(heard) as file:
        text = file.read()
    print(text, flush=True)
    found = re.search(r'^Solution 1 \(state (\d+)\)', text, re.MULTILINE)
    if found is not None:
        path = os.path.join(folder, 'path.maude')
        with open(path, 'w') as file:
            file.write(f'show path labels {found.group(1)} .\n')
        maude.load(path)
