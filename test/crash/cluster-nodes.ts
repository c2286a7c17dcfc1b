import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as ask, Agent } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { NodeOptions } from './cluster-child.ts'

const lookMs = 100
const againMs = 200
/** Longer than any outage of the database. */
const beginMsMax = 120_000

/** Nodes that are restarted whenever they exit, as a service manager does, and their unexpected exits. */
export interface Nodes {
  /** The URLs of the nodes; undefined for a node that is not running. */
  readonly urls: readonly (string | undefined)[]
  /** The output of nodes that exited without being killed. */
  readonly faults: string[]
  kill(index: number): Promise<void>
  /** Stops all nodes gracefully and starts them with other options. */
  restart(options: NodeOptions): Promise<void>
  stop(): Promise<void>
}

export async function startNodes(count: number, given: NodeOptions): Promise<Nodes> {
  let options = given
  let isStopping = false
  const urls: (string | undefined)[] = Array.from({ length: count }, () => undefined)
  const children: (ChildProcess | undefined)[] = []
  const killed = new WeakSet<ChildProcess>()
  const faults: string[] = []
  const lastWords: string[] = []

  /** Waits until the node is ready. Restarts a node that cannot start because the database is down. */
  async function begin(index: number): Promise<void> {
    const endMs = performance.now() + beginMsMax
    while (!isStopping && !(await tryBegin(index))) {
      if (performance.now() > endMs) throw new Error(`Node ${index + 1} does not begin: ${lastWords[index]}`)
      await setTimeout(againMs)
    }
  }

  async function tryBegin(index: number): Promise<boolean> {
    const file = fileURLToPath(new URL('./cluster-child.ts', import.meta.url))
    const execArgv = ['--conditions=source', '--disable-warning=ExperimentalWarning']
    const child = fork(file, [JSON.stringify(options)], { execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    children[index] = child
    let said = ''
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (data) => (said = `${said}${data}`.slice(-4000)))
    const ended = once(child, 'exit').then(() => undefined)
    const message = await Promise.race([once(child, 'message'), ended])
    if (!message) {
      lastWords[index] = said
      return false
    }
    urls[index] = (message[0] as { url: string }).url
    child.once('exit', () => {
      urls[index] = undefined
      if (killed.has(child)) return
      faults.push(`Node ${index + 1} ended by itself: ${said}`)
      begin(index).catch((error: Error) => void faults.push(error.message))
    })
    return true
  }

  async function end(index: number, signal: NodeJS.Signals): Promise<void> {
    const child = children[index]!
    killed.add(child)
    urls[index] = undefined
    child.kill(signal)
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }

  const all = <T>(work: (index: number) => Promise<T>) => Promise.all(urls.map((_, index) => work(index)))
  await all(begin)
  return {
    urls,
    faults,
    async kill(index) {
      await end(index, 'SIGKILL')
      await begin(index)
    },
    async restart(others) {
      await all((index) => end(index, 'SIGTERM'))
      options = others
      await all(begin)
    },
    async stop() {
      isStopping = true
      await all((index) => end(index, 'SIGTERM'))
    },
  }
}

/** The header that marks responses of the load balancer itself. */
export const balancerHeader = 'x-balancer'

/** Distributes requests in turn to the nodes whose last `/readyz` check returned 200. */
export async function startBalancer(nodes: Pick<Nodes, 'urls'>) {
  const agent = new Agent({ keepAlive: true })
  let ready: string[] = []
  let turn = 0
  let isOpen = true

  async function look(): Promise<void> {
    while (isOpen) {
      const urls = nodes.urls.filter((url) => url !== undefined)
      const isReady = await Promise.all(urls.map((url) => answersReady(url)))
      ready = urls.filter((_, i) => isReady[i])
      await setTimeout(lookMs)
    }
  }

  const server = createServer((request, response) => {
    // While the database is down no node is ready, but each can still serve its cached responses.
    const candidates = ready.length > 0 ? ready : nodes.urls.filter((url) => url !== undefined)
    const url = candidates[turn++ % Math.max(1, candidates.length)]
    const fail = () => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502, { [balancerHeader]: 'gone' }).end()
    }
    if (url === undefined) return fail()
    const { method, headers } = request
    const passed = ask(new URL(request.url!, url), { method, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
      answer.on('error', fail)
    })
    passed.on('error', fail)
    request.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const looking = look()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      isOpen = false
      await looking
      agent.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}

async function answersReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) })).status === 200
  } catch {
    return false
  }
}
