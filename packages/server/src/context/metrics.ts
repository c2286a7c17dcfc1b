import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, Registry as PromRegistry } from 'prom-client'
import type { Registry } from '@skillstead/core'
import type { Call } from './call.ts'

/** Requests of one endpoint, method and status class. */
interface Series {
  readonly labels: Readonly<Record<'endpoint' | 'method' | 'status', string>>
  /** Number of requests since they were last added to the counter. */
  fresh: number
  observe(seconds: number): void
}

/** Metrics of the node. They are in their own Prometheus registry, apart from the metrics of an embedding program. */
export class Metrics {
  readonly #own = new PromRegistry()
  readonly #registers = [this.#own]
  /**
   * The counters by endpoint and method, with one for each class of status. Each combination of labels has its own
   * counter, because a look-up of labels takes longer than counting.
   */
  readonly #series = createSeriesTable(this.#registers)
  readonly #durations = new Histogram({
    name: 'skillstead_http_request_duration_seconds',
    help: 'Time from the head of a request to the head of its response.',
    labelNames: ['endpoint'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: this.#registers,
  })
  readonly #inFlight = new Gauge({
    name: 'skillstead_http_requests_in_flight',
    help: 'Requests in progress.',
    registers: this.#registers,
  })
  readonly #limited = new Counter({
    name: 'skillstead_http_rate_limited_total',
    help: 'Requests refused by a rate limit.',
    registers: this.#registers,
  })
  readonly #shed = new Counter({
    name: 'skillstead_http_shed_total',
    help: 'Costly requests refused because the node was overloaded.',
    registers: this.#registers,
  })
  readonly #delay = monitorEventLoopDelay({ resolution: 20 })
  #running = 0

  /** Starts the measurement of the event loop's delay, until `close`. */
  constructor() {
    this.#delay.enable()
    registerEventLoopDelay(this.#delay, this.#registers)
  }

  begin(): void {
    this.#running += 1
  }

  end(call: Call, status: number): void {
    this.#running -= 1
    const series = this.#seriesOf(call.endpoint, call.method, status)
    series.fresh += 1
    series.observe((performance.now() - call.startedAtMs) / 1000)
  }

  /** Counts a request that a rate limit refused. */
  limited(): void {
    this.#limited.inc()
  }

  /** Counts a request that was refused because too many other requests were waiting. */
  shed(): void {
    this.#shed.inc()
  }

  /** The number of requests that a rate limit refused. */
  async limitedTotal(): Promise<number> {
    return (await this.#limited.get()).values[0]?.value ?? 0
  }

  /** Prometheus text with the metrics of the node and of the skill registry. */
  async render(registry: Registry): Promise<string> {
    this.#inFlight.set(this.#running)
    const [ours, theirs] = await Promise.all([this.#own.metrics(), renderRegistryMetrics(registry)])
    return ours + theirs
  }

  get contentType(): string {
    return this.#own.contentType
  }

  close(): void {
    this.#delay.disable()
  }

  #seriesOf(endpoint: string, sent: string, status: number): Series {
    const method = toMethodLabel(sent)
    let byMethod = this.#series.get(endpoint)
    if (!byMethod) this.#series.set(endpoint, (byMethod = new Map()))
    let byClass = byMethod.get(method)
    if (!byClass) byMethod.set(method, (byClass = []))
    const statusClass = Math.trunc(status / 100)
    byClass[statusClass] ??= this.#createSeries({ endpoint, method, status: `${statusClass}xx` })
    return byClass[statusClass]
  }

  #createSeries(labels: Series['labels']): Series {
    const histogram = this.#durations.labels({ endpoint: labels.endpoint })
    return { labels, fresh: 0, observe: (seconds) => histogram.observe(seconds) }
  }
}

/** Creates the table of series by endpoint and method, and the Prometheus counter that reports them. */
function createSeriesTable(registers: PromRegistry[]): Map<string, Map<string, Series[]>> {
  const table = new Map<string, Map<string, Series[]>>()
  const requests = new Counter({
    name: 'skillstead_http_requests_total',
    help: 'Completed requests, by endpoint, method and status class.',
    labelNames: ['endpoint', 'method', 'status'],
    registers,
    collect() {
      for (const series of [...table.values()].flatMap((byMethod) => [...byMethod.values()].flat())) {
        requests.inc(series.labels, series.fresh)
        series.fresh = 0
      }
    },
  })
  return table
}

function registerEventLoopDelay(delay: ReturnType<typeof monitorEventLoopDelay>, registers: PromRegistry[]): void {
  const gauge: Gauge<'percentile'> = new Gauge({
    name: 'skillstead_event_loop_delay_seconds',
    help: 'Event loop delay since the last scrape.',
    labelNames: ['percentile'],
    registers,
    collect() {
      // Only summaries may have the label `quantile`.
      for (const percentile of [50, 99, 100]) {
        gauge.set({ percentile: `${percentile}` }, (delay.percentile(percentile) || 0) / 1e9)
      }
      delay.reset()
    },
  })
}

async function renderRegistryMetrics(registry: Registry): Promise<string> {
  const fresh = new PromRegistry()
  const made = new Map<string, Counter | Gauge>()
  for (const { name, help, value, type, labels = {} } of await registry.metrics()) {
    const shape = { name, help, labelNames: Object.keys(labels), registers: [fresh] }
    const metric = made.get(name) ?? (type === 'counter' ? new Counter(shape) : new Gauge(shape))
    made.set(name, metric)
    metric.inc(labels, value)
  }
  return fresh.metrics()
}

const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The label for a method. It is text from the caller, so only known methods become labels. */
const toMethodLabel = (method: string) => (knownMethods.has(method) ? method : 'other')
