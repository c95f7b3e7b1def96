// What Streamlit calls with the tokens.
export default shownBy(TokenView, "chosen");
