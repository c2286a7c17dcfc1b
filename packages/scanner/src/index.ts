export { findWidening, subtractAccess } from './access/compare-access.ts'
export { inspectAccess } from './access/inspect-access.ts'
export { reportUnscanned, scanInThread, scanPackage } from './scan-package.ts'
export type { ScanFile } from './scan.ts'
export {
  isDangerousScore,
  safeScoreMin,
  toRisk,
  toScore,
  toVerdict,
  toVerdictText,
  worstRisk,
  worstVerdict,
} from './score.ts'
