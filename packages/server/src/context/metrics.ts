import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, Registry as PromRegistry } from 'prom-client'
import type { Registry } from '@skillstead/core'
import type { Call } from './call.ts'

/** Metrics of the node in a Prometheus registry of its own, apart from those of an embedding program. */
export interface Metrics {
  begin(): void
  end(call: Call, status: number): void
  limited(): void
  /** Counts a request that was refused because others were waiting. */
  shed(): void
  /** Number of requests refused by a rate limit. */
  limitedTotal(): Promise<number>
  /** Prometheus text, including the metrics of the skill registry. */
  render(registry: Registry): Promise<string>
  readonly contentType: string
  close(): void
}

/** Requests of one endpoint, method and status class. */
interface Series {
  readonly labels: Readonly<Record<'endpoint' | 'method' | 'status', string>>
  /** Number of requests since the last update of the counter. */
  fresh: number
  observe(seconds: number): void
}

export function createMetrics(): Metrics {
  const own = new PromRegistry()
  const registers = [own]
  /**
   * A look-up of labels takes longer than counting, so each of the few combinations of labels has its own counter: by
   * endpoint and method, one for each class of status.
   */
  const kept = new Map<string, Map<string, Series[]>>()
  const requests = new Counter({
    name: 'skillstead_http_requests_total',
    help: 'Completed requests, by endpoint, method and status class.',
    labelNames: ['endpoint', 'method', 'status'],
    registers,
    collect() {
      for (const series of [...kept.values()].flatMap((byMethod) => [...byMethod.values()].flat())) {
        requests.inc(series.labels, series.fresh)
        series.fresh = 0
      }
    },
  })
  const durations = new Histogram({
    name: 'skillstead_http_request_duration_seconds',
    help: 'Time from the head of a request to the head of its response.',
    labelNames: ['endpoint'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  })
  const inFlight = new Gauge({
    name: 'skillstead_http_requests_in_flight',
    help: 'Requests in progress.',
    registers,
  })
  const limited = new Counter({
    name: 'skillstead_http_rate_limited_total',
    help: 'Requests refused by a rate limit.',
    registers,
  })
  const shed = new Counter({
    name: 'skillstead_http_shed_total',
    help: 'Costly requests refused because the node was overloaded.',
    registers,
  })
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  registerEventLoopDelay(delay, registers)

  let running = 0

  function seriesOf(endpoint: string, sent: string, status: number): Series {
    const method = toMethodLabel(sent)
    let byMethod = kept.get(endpoint)
    if (!byMethod) kept.set(endpoint, (byMethod = new Map()))
    let byClass = byMethod.get(method)
    if (!byClass) byMethod.set(method, (byClass = []))
    const statusClass = Math.trunc(status / 100)
    byClass[statusClass] ??= createSeries({ endpoint, method, status: `${statusClass}xx` })
    return byClass[statusClass]
  }

  function createSeries(labels: Series['labels']): Series {
    const histogram = durations.labels({ endpoint: labels.endpoint })
    return { labels, fresh: 0, observe: (seconds) => histogram.observe(seconds) }
  }

  return {
    begin() {
      running += 1
    },
    end(call, status) {
      running -= 1
      const series = seriesOf(call.endpoint, call.method, status)
      series.fresh += 1
      series.observe((performance.now() - call.startedAtMs) / 1000)
    },
    limited: () => limited.inc(),
    shed: () => shed.inc(),
    limitedTotal: async () => (await limited.get()).values[0]?.value ?? 0,
    async render(registry) {
      inFlight.set(running)
      const [ours, theirs] = await Promise.all([own.metrics(), renderRegistryMetrics(registry)])
      return ours + theirs
    },
    contentType: own.contentType,
    close: () => void delay.disable(),
  }
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

/** The method is text from the caller, so only known methods become labels. */
const toMethodLabel = (method: string) => (knownMethods.has(method) ? method : 'other')
