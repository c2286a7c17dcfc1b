export { toRulesVersion, type AddedRules } from './added/added-rules.ts'
export { findWidening, subtractAccess } from './access/compare-access.ts'
export { inspectAccess } from './access/inspect-access.ts'
export { assessChange, type ComparedVersion } from './change/assess-change.ts'
export { readOutline, toUnreadOutline, type Outline } from './change/outline.ts'
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
