const literal = /(?<![\w"'`])(["'])([^"'`\\\n]{3,80})\1(?!["'\s]*(?::|=[^=]))/g

/** The code with some of its texts put together from two pieces, in a way that the seed chooses; none for seed 0. */
export function splitLiterals(language: 'python' | 'script', code: string, seed: number): string {
  let state = seed
  const pick = (count: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % count
  }
  return code.replaceAll(literal, (whole, quote: string, text: string, at: number) => {
    if (seed === 0 || pick(3) === 0 || /\b(?:from|import)\s*$/.test(code.slice(Math.max(0, at - 8), at))) return whole
    const middle = 1 + pick(text.length - 1)
    const [first, last] = [text.slice(0, middle), text.slice(middle)].map((piece) => `${quote}${piece}${quote}`)
    const ways =
      language === 'python'
        ? [`${first} ${last}`, `${first} + ${last}`, `"".join([${first}, ${last}])`, `"{}{}".format(${first}, ${last})`]
        : [
            `${first} + ${last}`,
            `${first}.concat(${last})`,
            `[${first}, ${last}].join("")`,
            `\`\${${first}}\${${last}}\``,
          ]
    return `(${ways[pick(ways.length)]})`
  })
}
