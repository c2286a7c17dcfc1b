interface MarkdownPiece {
  readonly text: string
  /** Whether the piece is shown as plain text, because rendering it could take too long. */
  readonly isPlain: boolean
}

const pieceCharacters = 1_500
/**
 * Maximum characters of a block and of a table that are rendered: parsing a malicious paragraph takes quadratic time,
 * parsing a table does not.
 */
const blockCharactersMax = 5_000
const tableCharactersMax = 40_000
const listCharacters = 2_000
const definitionsMax = 200

/**
 * Splits a document into pieces that each render fast, between blocks and outside of code fences. Each piece gets the
 * link definitions of the document.
 */
export function divideMarkdown(text: string): MarkdownPiece[] {
  if (text.length <= pieceCharacters) return [toMarkdownPiece(text, '')]
  const definitions = (text.match(/^ {0,3}\[[^\]\n]{1,200}\]: {0,3}\S{1,1000}.*$/gm) ?? []).slice(0, definitionsMax)
  const suffix = definitions.length > 0 ? `\n\n${definitions.join('\n')}\n` : ''
  const pieces: MarkdownPiece[] = []
  let piece = ''
  const turn = () => {
    if (piece.trim() !== '') pieces.push(toMarkdownPiece(piece, suffix))
    piece = ''
  }
  for (const block of toBlocks(text)) {
    const isFull = piece.length + block.length > pieceCharacters
    if (isFull || (/^#{1,6} /.test(block) && piece.length > pieceCharacters / 2)) turn()
    piece += block
  }
  turn()
  return pieces
}

function toMarkdownPiece(text: string, suffix: string): MarkdownPiece {
  const isLong = text.length > (isTable(text) ? tableCharactersMax : blockCharactersMax)
  const isPlain = isLong || isTooDeep(text)
  return { text: isPlain ? text : text + suffix, isPlain }
}

/** Whether a text is only a table: a header, a line of dashes with as many columns, and rows. */
function isTable(text: string): boolean {
  const [head = '', dashes = '', ...rows] = text.trimEnd().split('\n')
  const isDivided = /^\|[-:| ]+\|\s*$/.test(dashes) && head.split('|').length === dashes.split('|').length
  return isDivided && [head, ...rows].every((row) => row.startsWith('|') && row.length <= blockCharactersMax)
}

/** Whether quotes or lists are nested forty levels or deeper. */
const isTooDeep = (text: string): boolean =>
  /^(?:[ \t]{0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])){40}/m.test(text) || /^[ \t]{160}/m.test(text)

/**
 * Splits text at empty lines and between the items of a long list; a code fence is one block. Joined, the blocks are
 * the text again.
 */
function toBlocks(text: string): string[] {
  const blocks: string[] = []
  let block = ''
  let fence: string | undefined
  let isOver = false
  for (const line of text.split(/(?<=\n)/)) {
    const isEmpty = line.trim() === ''
    // An indented line may belong to the item above.
    const isNext = isOver ? /^\S/.test(line) : block.length > listCharacters && /^(?:[-*+]|\d{1,9}[.)])[ \t]/.test(line)
    if (fence === undefined && isNext) {
      blocks.push(block)
      block = ''
    }
    const mark = /^ {0,6}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined
    block += line
    isOver = isEmpty
  }
  return block === '' ? blocks : [...blocks, block]
}
