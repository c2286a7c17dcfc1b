/** `on|off`, from the character before the bar. */
export const choice = /[\w>\]"']\|([\w<"'[]{1,40})/y
/** Maximum length of `$((` to its end. */
export const arithmeticCharactersMax = 200
/** Runs of characters without meaning to a shell, and without meaning in double quotes. */
export const ordinary = /[^\s;|&#'"\\$`()<>]+/y
export const quotedRun = /[^"\\$`]+/y
/** `$NAME` or `${NAME`, with the operator after the name. */
export const variable = /\$(?:([A-Za-z_]\w{0,80})|\{([A-Za-z_]\w{0,80})(:?[-?+=])?)/y
/** The name of a function, and its closing parenthesis. */
export const functionName = /^[\w.:-]{1,64}$/
export const closing = /^\s{0,2}\)/
/** `<file>` as a placeholder in a document, which is not a redirection. */
export const placeholderPattern = /^<[A-Za-z][\w /|.-]{0,40}>/
/** `<<-'END'` */
export const heredocPattern = /^<<-?\s{0,3}(?:(['"])([^'"\n]{1,40})\1|\\?([A-Za-z_]\w{0,40}))/
