/** In a skill's list of words: the end of a sentence, heading or keyword. */
export const sentenceBreak = 0
/** In a skill's list of words: the start of the field whose number is in the lower bits. */
export const fieldMark = 0x4000_0000
