"""What is made of the sanitizers' reports; the runs themselves are commands of project.yml."""

from __future__ import annotations

from tests.sanitize import own_leaks

REPORT = """
==1==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 24 byte(s) in 1 object(s) allocated from:
    #0 0x7f in __interceptor_malloc asan_malloc_linux.cpp:69
    #1 0x7f in Gold___cinit__ spacy_nmparse/systems/gold.c:2500
    #2 0x7f in type_call Objects/typeobject.c:1103

Direct leak of 99 byte(s) in 1 object(s) allocated from:
    #0 0x7f in __interceptor_malloc asan_malloc_linux.cpp:69
    #1 0x7f in PyObject_Malloc Objects/obmalloc.c:801

Indirect leak of 9 byte(s) in 1 object(s) allocated from:
    #0 0x7f in __interceptor_malloc asan_malloc_linux.cpp:69
    #1 0x7f in PyUnicode_New Objects/unicodeobject.c:1453
    #2 0x7f in __pyx_pymod_exec_gold spacy_nmparse/systems/gold.c:9000

SUMMARY: AddressSanitizer: 132 byte(s) leaked in 3 allocation(s).
"""


def test_leaks_of_the_package_are_told_from_others() -> None:
    (leak,) = own_leaks(REPORT)
    assert "gold.c:2500" in leak
    assert own_leaks("") == []
