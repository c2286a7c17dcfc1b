import pino, { type DestinationStream, type Logger } from 'pino'
import { escapeJson, type RegistryError } from '@skillstead/protocol'
import type { Call } from './call.ts'

/** The log of requests. It contains no bodies, keys, tokens, search texts or addresses, only the endpoint's name. */
export interface RequestLog {
  answered(call: Call, status: number): void
  /** Logs an internal error of the node, with its cause, which callers do not see. */
  failure(call: Call, error: RegistryError): void
}

/**
 * A logger for `NodeOptions.logger`: one JSON object per line. Default: standard output.
 *
 * @example
 * await listenNode(registry, { logger: createLogger() })
 */
export function createLogger(destination?: DestinationStream): Logger {
  const options = { base: undefined, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite: escapeJson } }
  return destination ? pino(options, destination) : pino(options)
}

export function createRequestLog(logger: Logger = pino({ level: 'silent' })): RequestLog {
  return {
    answered(call, status) {
      if (!logger.isLevelEnabled('info')) return
      logger.info(
        {
          requestId: call.requestId,
          method: call.method,
          endpoint: call.endpoint,
          status,
          durationMs: Math.round((performance.now() - call.startedAtMs) * 100) / 100,
          ...(call.caller.kind === 'user' && { userId: call.caller.userId }),
        },
        'request',
      )
    },
    failure(call, error) {
      const level = error.code === 'internal' ? 'error' : 'warn'
      logger[level](
        { requestId: call.requestId, endpoint: call.endpoint, code: error.code, err: error.cause ?? error },
        'request failed',
      )
    },
  }
}
