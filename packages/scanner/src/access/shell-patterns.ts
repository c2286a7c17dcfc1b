/** `on|off`, from the character before the bar. */
export const choice = /[\w>\]"']\|([\w<"'[]{1,40})/y
/** How far `$((` may be from its end. */
export const arithmeticCharactersMax = 200
/** Characters that mean nothing to a shell, and those that mean nothing to it in double quotes. */
export const ordinary = /[^\s;|&#'"\\$`()<>]+/y
export const quotedRun = /[^"\\$`]+/y
/** `$NAME` or `${NAME`, with what follows the name. */
export const variable = /\$(?:([A-Za-z_]\w{0,80})|\{([A-Za-z_]\w{0,80})(:?[-?+=])?)/y
/** The name of a function, and the end of its parentheses. */
export const functionName = /^[\w.:-]{1,64}$/
export const closing = /^\s{0,2}\)/
/** `<file>` in a document, where nothing is read from a file. */
export const placeholderPattern = /^<[A-Za-z][\w /|.-]{0,40}>/
/** `<<-'END'` */
export const heredocPattern = /^<<-?\s{0,3}(?:(['"])([^'"\n]{1,40})\1|\\?([A-Za-z_]\w{0,40}))/
