/** Bills of materials of skills, as a separate entry point: their libraries are loaded only when one is written. */
export { readDeclaredPackages } from './sbom/declared-packages.ts'
export type { DeclaredPackage, DeclaredPackages, Ecosystem, PackageScope } from './sbom/found-packages.ts'
export { sbomType, writeProjectSbom, writeSkillSbom, type SkillBill, type UnreadSkill } from './sbom/skill-sbom.ts'
