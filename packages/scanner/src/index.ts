export { toRulesVersion, type AddedRules } from './rules/added-rules.ts'
export { findWidening, subtractAccess } from './access/compare-access.ts'
export { inspectAccess } from './access/read-access.ts'
export { assessChange, type ComparedVersion } from './change/assess-change.ts'
export { readOutline, toUnreadOutline, type Outline } from './change/outline.ts'
export { reportUnscanned, scanInThread, scanPackage } from './threads/scan-package.ts'
export type { ScanFile } from './files/scan-file.ts'
export {
  isDangerousScore,
  safeScoreMin,
  toRisk,
  toScore,
  toVerdict,
  toVerdictText,
  worstRisk,
  worstVerdict,
} from './verdict/score.ts'
