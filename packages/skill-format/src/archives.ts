/**
 * Reading and writing skill packages, as a separate entry point: programs that only install need not load the registry.
 */
export { ArchiveError } from './archives/archive-error.ts'
export { toDigest, toVersionDigest } from './archives/digest.ts'
export type { ArchiveFile } from './archives/entry-options.ts'
export { isExecutable, isExecutableMode, readFileMode, toPublishFile } from './archives/executable.ts'
export { checkPaths, toFoldedPath } from './archives/file-paths.ts'
export { openFolderTree, type FolderEntry } from './archives/folder-tree.ts'
export {
  findGitProblems,
  fromPathInGit,
  gitAttributes,
  isGitAttributes,
  mayBeGitAttributes,
  toPathInGit,
} from './archives/git-paths.ts'
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
export { hasValidName } from './archives/name-order.ts'
export { readBytes } from './archives/read-bytes.ts'
export { isSkillMd, notUtf8, selectSkills, type SelectedSkill, type SourceEntry } from './archives/select-files.ts'
export { findSizeProblem, findSkillProblem, readSelectedFiles, selectListed } from './archives/selected-skill.ts'
export { findUnreadFolders, openFolder, selectFolder } from './archives/skill-folder.ts'
export {
  decodeText,
  findTextProblem,
  isUnreadable,
  readSourceItem,
  type SkillRecord,
  type Source,
  type SourceItem,
  type Unreadable,
} from './archives/skill-records.ts'
export { openZip } from './archives/skill-zip.ts'
export { describeStandIn, listStandIns, warnOfFiles } from './archives/stand-ins.ts'
export { writeZip } from './archives/write-archive.ts'
