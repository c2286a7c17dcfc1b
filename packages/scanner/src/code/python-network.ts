import { answer, argument, requests, sends, toAddress, writeFile } from './effects.ts'
import { fill, type EffectTable } from './effect-table.ts'
import type { Effect } from './library.ts'
import { mix, nothing, textOf } from './values.ts'

const request = requests({ address: [0, 'url'], data: [1, 'data', 'json', 'files', 'params', 'content', 'body'] })
const requestWithMethod = requests({
  address: [1, 'url'],
  data: [2, 'data', 'json', 'files', 'params', 'content', 'body', 'fields'],
})

/** Listens on all addresses of the machine. */
const bind: Effect = (call, on) => {
  const host = textOf(call.args[0]?.items?.[0])
  if (host === '' || host === '0.0.0.0' || host === '::') on.record('listener', call.code, host)
  return nothing
}

const socketSend: Effect = (call, on) => {
  on.record('network-send', call.code, call.self?.path === 'socket' ? toAddress(call.self.self) : undefined, call.args)
  return nothing
}

/** `dup2` of a socket connects the standard streams of this process to it. */
const duplicate: Effect = (call, on) => {
  if (!call.args.some(({ path }) => path?.startsWith('socket'))) return undefined
  on.record('shell-connected', call.code)
  return nothing
}

/** What the functions of Python do that send and receive data. */
export const pythonNetwork: EffectTable = [
  ...[
    'requests',
    'httpx',
    'requests.Session()',
    'httpx.Client()',
    'httpx.AsyncClient()',
    'aiohttp.ClientSession()',
    'requests.session()',
  ].flatMap((client) => [
    ...fill('get head options', requests({ address: [0, 'url'], data: ['params', 'data', 'json'] })).map(
      ([name, effect]): [string, Effect] => [`${client}.${name}`, effect],
    ),
    ...fill('post put patch delete', request).map(([name, effect]): [string, Effect] => [`${client}.${name}`, effect]),
    ...fill('request stream', requestWithMethod).map(([name, effect]): [string, Effect] => [
      `${client}.${name}`,
      effect,
    ]),
  ]),
  ...fill(
    'urllib.request.urlopen urllib2.urlopen urllib.urlopen',
    requests({ address: [0, 'url'], data: [1, 'data'] }),
  ),
  ...fill('urllib.request.Request urllib2.Request', (call) => ({
    ...nothing,
    text: textOf(argument(call, [0, 'url'])),
    facts: mix([
      ...call.args.slice(1),
      ...[...call.named].filter(([name]) => name !== 'headers').map(([, value]) => value),
    ]).facts,
  })),
  ...fill('urllib.request.urlretrieve wget.download', (call, on) => {
    const where = toAddress(call.args[0])
    const content = answer(call, on, where)
    const path = argument(call, [1, 'filename', 'out'])
    if (path) writeFile(path, content, call, on)
    return path ?? content
  }),
  ...fill('urllib3.PoolManager().request urllib3.request', requestWithMethod),
  ...fill('http.client.HTTPSConnection http.client.HTTPConnection', (call) => ({
    ...nothing,
    path: 'connection',
    self: call.args[0] ?? nothing,
  })),
  [
    'connection.request',
    (call, on) => {
      on.record('network-send', call.code, toAddress(call.self?.self), [...call.args.slice(1), ...call.named.values()])
      return nothing
    },
  ],
  ['connection.getresponse', (call, on) => answer(call, on, toAddress(call.self?.self))],
  ...fill(
    'smtplib.SMTP().sendmail smtplib.SMTP_SSL().sendmail smtplib.SMTP().send_message smtplib.SMTP_SSL().send_message',
    sends([0, 1, 2]),
  ),
  ...fill('ftplib.FTP().storbinary ftplib.FTP_TLS().storbinary', sends([0, 1])),
  ...fill(
    'socket.gethostbyname socket.getaddrinfo dns.resolver.resolve dns.resolver.query',
    requests({ address: 0, data: [], isOptional: true }),
  ),
  ...fill('socket.socket socket.create_connection', (call) => ({
    ...nothing,
    path: 'socket',
    self: call.args[0] ?? nothing,
  })),
  ...fill('socket.send socket.sendall socket.sendto', socketSend),
  ...fill('socket.recv socket.recvfrom', (call, on) => ({
    ...nothing,
    facts: [on.record('network-fetch', call.code)],
  })),
  ...fill('socket.fileno', ({ self }) => self),
  ['os.dup2', duplicate],
  ['socket.bind', bind],
]

/** The same for methods of unknown objects. */
export const pythonNetworkMethods: EffectTable = [
  ...fill('sendall sendto', socketSend),
  ...fill('post put', (call, on) => (/^https?:/.test(textOf(call.args[0])) ? request(call, on) : undefined)),
  ...fill(
    'upload_file upload_fileobj put_object upload_from_filename upload_from_string',
    sends([0, 1, 'Body', 'Filename']),
  ),
  ...fill('sendmail send_message', sends([0, 1, 2])),
  ...fill('storbinary', sends([0, 1])),
]
