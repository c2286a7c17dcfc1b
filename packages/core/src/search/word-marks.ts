/** In the words of a skill: a sentence, heading or keyword ends here. */
export const sentenceBreak = 0
/** In the words of a skill: the field with the number in the lower bits begins here. */
export const fieldMark = 0x4000_0000
