import { describe, expect, it } from 'vitest'
import { readCodeText } from '../../packages/scanner/src/code/read-program.ts'

const hidden = 'import os; os.system("id")'
const codes = Array.from(hidden, (character) => character.charCodeAt(0) ^ 7)

describe('a loop', () => {
  it.each([
    ['counts', `i = 0\ns = ""\nwhile i < ${codes.length}:\n  s += chr(codes[i] ^ 7)\n  i += 1\n`],
    [
      'changes variables outside of the function that it calls',
      `i = 0\ns = ""\ndef step():\n  global i, s\n  s += chr(codes[i] ^ 7)\n  i += 1\nwhile i < ${codes.length}:\n  step()\n`,
    ],
    [
      'adds to a list',
      `i = 0\ns = []\nwhile i < ${codes.length}:\n  s.append(chr(codes[i] ^ 7))\n  i += 1\ns = "".join(s)\n`,
    ],
    [
      'follows one that never ends',
      `def wait():\n  while True:\n    r = ready()\n    if r:\n      break\nwait()\ns = ""\nfor n in codes:\n  s += chr(n ^ 7)\n`,
    ],
  ])('of Python is followed if it %s', (_, program) => {
    const { texts } = readCodeText('python', `codes = [${codes.join(', ')}]\n${program}exec(s)\n`)
    expect(texts).toMatchObject([{ text: hidden }])
  })

  it.each([
    ['counts', `let i = 0, s = ''\nwhile (i < codes.length) { s += String.fromCharCode(codes[i] ^ 7); i++ }\neval(s)`],
    [
      'changes fields of an object',
      `const o = { s: '', i: 0 }\nwhile (o.i < codes.length) { o.s += String.fromCharCode(codes[o.i] ^ 7); o.i += 1 }\neval(o.s)`,
    ],
    [
      'calls a function that is defined before it',
      `let i = 0, s = ''\nconst next = () => { s += String.fromCharCode(codes[i] ^ 7); i++ }\nwhile (i < codes.length) next()\neval(s)`,
    ],
    [
      'follows one that never ends, with callbacks and lists of its own',
      `async function poll() {\n  while (true) {\n    await new Promise((r) => setTimeout(r, 500))\n    const all = []\n    all.push(await fetchAll())\n    if (all[0].done) return\n  }\n}\npoll()\nlet s = ''\nfor (const n of codes) s += String.fromCharCode(n ^ 7)\neval(s)`,
    ],
  ])('of JavaScript is followed if it %s', (_, program) => {
    const { texts } = readCodeText('script', `const codes = [${codes.join(', ')}]\n${program}`)
    expect(texts).toMatchObject([{ text: hidden }])
  })

  it.each([
    `while True:\n  x = [1]\n${'  x = [x, x]\n'.repeat(60)}exec(x)\n`,
    'import subprocess\na = ["x" * 999]\nfor i in range(4000):\n  a.append(a[0])\nfor i in range(1000):\n  subprocess.run(a)\n',
  ])('with long lists takes little time: %s', (program) => {
    const start = performance.now()
    readCodeText('python', program)
    expect(performance.now() - start).toBeLessThan(5000)
  })
})
