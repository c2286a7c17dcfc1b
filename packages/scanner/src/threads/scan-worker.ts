import { parentPort } from 'node:worker_threads'
import type { ScanOrder } from './scan-package.ts'
import { scanFiles } from '../scan.ts'

/** The worker thread that scans: receives packages and posts reports. */
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort!.on('message', ({ files, now, added }: ScanOrder) => parentPort!.postMessage(scanFiles(files, now, added)))
