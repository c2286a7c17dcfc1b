import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeFolder, runFile, skillstead, skillsteadJson } from '../support/cli-harness.ts'

describe('an unknown command', () => {
  it.each([
    [['instal', 'pdf'], "Unknown command 'instal'. Did you mean install?"],
    [['serach'], "Unknown command 'serach'. Did you mean search?"],
    [['user', 'create', 'bob'], "Unknown command 'user'. Did you mean users?"],
    [['mirrors'], "Unknown command 'mirrors'. Did you mean mirror?"],
    [['mirror', 'statsu'], "not 'statsu'. Did you mean status?"],
    [['help', 'pubish'], "Unknown command 'pubish'. Did you mean publish?"],
    [['frobnicate'], "Unknown command 'frobnicate'. Run `skillstead help` for the list of commands."],
  ])('%j suggests the nearest command if one is close', async (args, sentence) => {
    const { code, stdout, stderr } = await skillstead(args)
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
  })
})

const ofClone = join(import.meta.dirname, '../../packages/cli/clone/main.js')

it.each([
  [['start', '--', '--help'], 'skillstead start [options]'],
  [['--', 'help', 'start'], 'skillstead start [options]'],
])('the command of a clone ignores the -- that pnpm passes on: %j', async (args, text) => {
  const { code, stdout, stderr } = await runFile(ofClone, args)
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.stringContaining(text), stderr: '' })
})

describe('skillstead help', () => {
  it('shows the options and the subcommands of a command', async () => {
    const install = await skillstead(['help', 'install'])
    expect(install).toMatchObject({ code: 0, stderr: '' })
    expect(install.stdout).toBe((await skillstead(['install', '--help'])).stdout)
    expect(install.stdout).toContain('skillstead install [options] [NAME...]')
    expect((await skillstead(['help', 'mirror', 'add'])).stdout).toContain(
      'skillstead mirror add [options] <NAME> <URL|PATH>',
    )
    expect((await skillstead(['help', 'users'])).stdout).toMatch(/^ {2}create .*\n {2}list /m)
    expect((await skillstead(['help', 'key'])).stdout).toMatch(/skillstead key \[options\][^]*\n {2}rotate /)
    expect((await skillstead(['help'])).stdout).toBe((await skillstead([])).stdout)
  })
})

describe('the colour of the output', () => {
  const terminal = { isTerminal: true, env: { TERM: 'xterm-256color' } }
  const escape = '\u001B['

  it('is used on terminals only, and not with NO_COLOR or TERM=dumb', async () => {
    const coloured = await skillstead(['help'], terminal)
    expect(coloured.stdout).toContain(`${escape}1mInstall skills:${escape}22m`)
    const plain = await skillstead(['help'])
    expect(plain.stdout).not.toContain(escape)
    for (const env of [{ ...terminal.env, NO_COLOR: '1' }, { TERM: 'dumb' }])
      expect((await skillstead(['help'], { isTerminal: true, env })).stdout).toBe(plain.stdout)
  })

  it('is red for errors, and escape sequences in untrusted text are removed', async () => {
    const failed = await skillstead(['show', 'x', '--data', `no\u001B[2Jwhere`], terminal)
    expect(failed.code).toBe(1)
    expect(failed.stderr).toBe(
      `${escape}31mThere is no registry in no[2Jwhere. Pass the folder of a registry with --data.${escape}39m\n`,
    )
  })

  it('is green for passed checks of `doctor`', async () => {
    const data = await makeFolder()
    await skillsteadJson(['users', 'create', 'ada', '--data', data])
    expect((await skillstead(['doctor', '--data', data], terminal)).stdout).toContain(`${escape}32mok    node`)
  })
})

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}
const ask = async (url: string) => {
  const { code, stdout, stderr } = await skillstead(['search', 'pdf', '--url', url])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  return stderr
}

const page = (_: unknown, response: { end(text: string): void; setHeader(name: string, value: string): void }) => {
  response.setHeader('content-type', 'text/html')
  response.end('<h1>A shop</h1>')
}

describe('an unreachable node', () => {
  it('is reported with its cause: connection refused, unknown host, no TLS, wrong TLS name, or not a node', async () => {
    const plain = await listen(createServer(page))
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'other.example' }])
    const tls = await listen(createTlsServer({ key, cert }, page))
    const closed = createServer(page)
    const free = await listen(closed)
    await new Promise((resolve) => void closed.close(resolve))

    expect(await ask(`http://127.0.0.1:${free}`)).toContain(
      'It refused the connection: start the node, or check the port.',
    )
    expect(await ask('http://no-such-host.invalid')).toContain('Its name is unknown: check the address')
    expect(await ask(`https://127.0.0.1:${plain}`)).toContain('It does not speak TLS: use http://')
    expect(await ask(`http://127.0.0.1:${tls}`)).toContain('if it serves HTTPS, use https://')
    expect(await ask(`https://127.0.0.1:${tls}`)).toContain('Its certificate is not trusted')
    expect(await ask(`http://127.0.0.1:${plain}`)).toMatch(/is no(t a)? node|text\/html/)
  })
})
