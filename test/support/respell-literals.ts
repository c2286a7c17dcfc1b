const literal = /(?<![\w"'`])(["'])([^"'`\\\n]{3,80})\1(?!["'\s]*(?::|=[^=]))/g

/** The code with some of its texts respelled in a way that the seed chooses; none for seed 0. */
export function respellLiterals(language: 'python' | 'script', code: string, seed: number): string {
  let state = seed
  const pick = (count: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % count
  }
  return code.replaceAll(literal, (whole, quote: string, text: string, at: number) => {
    if (seed === 0 || pick(3) === 0 || /\b(?:from|import)\s*$/.test(code.slice(Math.max(0, at - 8), at))) return whole
    const quoted = (inner: string) => `${quote}${inner}${quote}`
    const middle = 1 + pick(text.length - 1)
    const [first, last] = [quoted(text.slice(0, middle)), quoted(text.slice(middle))]
    const backwards = quoted([...text].toReversed().join(''))
    const filled = quoted(`${text.slice(0, middle)}~~${text.slice(middle)}`)
    const escaped = quoted(text.replace(/[a-z]/, (letter) => `\\x${letter.charCodeAt(0).toString(16)}`))
    const ways =
      language === 'python'
        ? [
            `${first} ${last}`,
            `"".join([${first}, ${last}])`,
            `"{}{}".format(${first}, ${last})`,
            `"%s%s" % (${first}, ${last})`,
            `${backwards}[::-1]`,
          ]
        : [
            `${first}.concat(${last})`,
            `[${first}, ${last}].join("")`,
            `\`\${${first}}\${${last}}\``,
            `${backwards}.split("").reverse().join("")`,
          ]
    return `(${[...ways, `${first} + ${last}`, `${filled}.replace("~~", "")`, escaped][pick(ways.length + 3)]})`
  })
}
