/**
 * Reading and writing skill packages, as a separate entry point: programs that only install need not load the registry.
 */
export { ArchiveError } from './archives/archive-error.ts'
export { toDigest, toVersionDigest } from './archives/digest.ts'
export type { ArchiveFile } from './archives/entry-options.ts'
export { isExecutable, isExecutableMode, readFileMode, toPublishFile } from './archives/executable.ts'
export { checkPaths, fileLimits, toFoldedPath } from './archives/file-paths.ts'
export { findGitProblems, fromPathInGit, gitAttributes, isGitAttributes, toPathInGit } from './archives/git-paths.ts'
export {
  describeMcpServer,
  findMcpProblems,
  isMcpServerName,
  McpJsonError,
  parseUniqueJson,
  readMcpServers,
  type McpServer,
  type McpServers,
} from './archives/mcp-json.ts'
export { createPluginFacts, type PluginFacts } from './archives/plugin-facts.ts'
export { pluginFile, toPluginManifest, toPluginName, type PluginManifest } from './archives/plugin-manifest.ts'
export { createPluginFolders, isPluginRoot } from './archives/plugin-paths.ts'
export { openPlugin, type Plugin } from './archives/plugin-source.ts'
export { readArchive, readArchiveFiles } from './archives/read-archive.ts'
export { readObjects, type ReadObject } from './archives/json-lines.ts'
export { readZipDirectory, type ZipEntry } from './archives/read-zip.ts'
export { readZip } from './archives/read-zip.ts'
export { readBytes } from './archives/read-bytes.ts'
export {
  findProblem,
  isSkillMd,
  isSkippedName,
  notUtf8,
  selectSkills,
  type SelectedSkill,
  type SourceEntry,
} from './archives/select-files.ts'
export { openFolder, selectFolder } from './archives/skill-folder.ts'
export {
  decodeText,
  findTextProblem,
  isUnreadable,
  type SkillRecord,
  type Source,
  type SourceItem,
  type Unreadable,
} from './archives/skill-records.ts'
export { openZip } from './archives/skill-zip.ts'
export { describeStandIn, warnOfFiles } from './archives/stand-ins.ts'
export { writeZip } from './archives/write-archive.ts'
