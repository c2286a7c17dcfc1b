/** Joiners, variation selectors, tags, direction marks, fillers and control characters. */
const unseen = String.raw`[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]|[\p{Cc}--[\t\n\r]]`
/** Letters and marks of the scripts in which a joiner changes the visible text (Persian, Hindi and others). */
const joined = String.raw`[[\p{L}\p{M}]--[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hang}\p{sc=Han}\p{sc=Zinh}\p{DI}]]`

const unseenPattern = new RegExp(unseen, 'v')
const parts = String.raw`(?<seen>\p{RGI_Emoji}|(?<=${joined})[\u200c\u200d](?=${joined}))|${unseen}`
/** The pattern of `parts`, compiled on first use because compiling takes 20 ms. */
let partsPattern: RegExp | undefined

/**
 * Removes invisible characters, which could carry instructions that an agent reads and its user does not see. Keeps
 * emoji, joiners where a script needs them, tabs and line breaks.
 *
 * @example toVisibleText('Ig\u200bnore') // 'Ignore'
 */
export function toVisibleText(text: string): string {
  return replaceUnseen(text, () => '')
}

/**
 * Shows the invisible characters that {@link toVisibleText} removes, for readers of source text.
 *
 * @example toMarkedText('if\u202e') // 'if[U+202E]'
 */
export function toMarkedText(text: string): string {
  return replaceUnseen(text, (character) => {
    return `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`
  })
}

function replaceUnseen(text: string, replace: (character: string) => string): string {
  if (!unseenPattern.test(text)) return text
  partsPattern ??= new RegExp(parts, 'gv')
  return text.replace(partsPattern, (character: string, seen?: string) => seen ?? replace(character))
}
