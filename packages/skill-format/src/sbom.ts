/** Bills of materials of skills: a separate entry point, because their libraries are loaded only to write one. */
export { readDeclaredPackages } from './sbom/declared-packages.ts'
export type { DeclaredPackage, DeclaredPackages, Ecosystem, PackageScope } from './sbom/found-packages.ts'
export { sbomType, writeProjectSbom, writeSkillSbom, type SkillBill, type UnreadSkill } from './sbom/skill-sbom.ts'
