import http from 'node:http'
import https from 'node:https'
import { isLoopbackHost, readErrorCode, toOneLine, readFields } from '@skillstead/protocol'
import { UsageError, command, textOption, type Arguments, type Options } from '../../command/command.ts'
import { isHttpUrl, wholeNumberOption } from '../../command/values.ts'
import { configOption, settings, withConfigFile } from '../../serving/config-file.ts'
import { listenOptions, toReachableHost, withVariables } from '../../serving/listen-options.ts'
import { tlsOptions } from '../../serving/tls-options.ts'

const timeoutMs = 5000
const bytesMax = 64 * 1024

export const commands = {
  health: command({
    description: 'Ask a node whether it can take traffic. Exits with 1 if it cannot, for containers.',
    options: {
      url: {
        value: 'URL',
        help: 'the node. Default: the node that `serve` runs here with the same variables and configuration file',
      },
      ...withVariables({ ...configOption, ...rare(listenOptions), ...rare(tlsOptions) }),
    },
    async run(given) {
      const asked = textOption(given, 'url')
      const url = asked ?? (await withConfigFile(given, settings, toOwnUrl)).result
      if (!isHttpUrl(url))
        throw new UsageError(`'${toOneLine(url)}' is not the URL of a node. Use the form https://HOST.`)
      return { url, ...(await askReadiness(new URL(`${url.replace(/\/+$/, '')}/readyz`), asked === undefined)) }
    },
    show: ({ url, detail }) => [`${url}: ${detail}`],
    hasFailed: ({ ready }) => !ready,
  }),
}

function rare(options: Options): Options {
  return Object.fromEntries(Object.entries(options).map(([name, option]) => [name, { ...option, isRare: true }]))
}

/** The URL of the node on this machine. Throws {@link UsageError} for an invalid port. */
async function toOwnUrl(given: Arguments): Promise<string> {
  const port = wholeNumberOption(given, 'port', 'port', [1, 65_535]) ?? 7545
  const protocol = textOption(given, 'tls-cert') === undefined ? 'http' : 'https'
  return `${protocol}://${toReachableHost(textOption(given, 'host'))}:${port}`
}

/** Asks a node whether it is ready. Uses no proxy, because the node is on this machine or in the same network. */
function askReadiness(url: URL, isOwn: boolean): Promise<{ ready: boolean; detail: string }> {
  const isLocal = isOwn || isLoopbackHost(url)
  const { promise, resolve } = Promise.withResolvers<{ ready: boolean; detail: string }>()
  const fail = (detail: string) => resolve({ ready: false, detail })
  // The certificate of a node has its public name, so it is not verified for a local address: nothing secret is sent,
  // and only the status counts.
  const options = { timeout: timeoutMs, signal: AbortSignal.timeout(timeoutMs), rejectUnauthorized: !isLocal }
  const agent = url.protocol === 'https:' ? new https.Agent() : new http.Agent()
  const request = (url.protocol === 'https:' ? https : http).get(url, { ...options, agent }, (response) => {
    let body = ''
    response.setEncoding('utf8')
    response.on('data', (text: string) => {
      body += text
      if (body.length <= bytesMax) return
      fail('not ready: the answer is too long')
      request.destroy()
    })
    response.on('end', () => {
      if (response.statusCode === 200 && readFields(body).ready === true) resolve({ ready: true, detail: 'ready' })
      else fail(`not ready: it answered ${response.statusCode}${readDetail(body)}`)
    })
    response.on('error', () => fail('the answer was cut off'))
  })
  request.on('error', (error) => fail(`no answer${describeConnectionError(error)}`))
  return promise
}

function describeConnectionError(error: Error): string {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return ` within ${timeoutMs / 1000} s`
  const code = readErrorCode(error)
  return code === undefined ? '' : ` (${toOneLine(String(code))})`
}

function readDetail(body: string): string {
  const { detail } = readFields(body)
  return typeof detail === 'string' ? `, ${toOneLine(detail)}` : ''
}
