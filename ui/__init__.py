"""Streamlit parts that several pages share. They import attention_core, never pages."""
