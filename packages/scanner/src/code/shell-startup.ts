/** The shell commands in the content of a startup file: a script, a table of cron, a service, or a property list. */
export function toCommands(path: string, content: string): string {
  if (/cron/.test(path)) return toLines(content, /^\s*(?:@\w{1,20}|(?:[\d*][\d*,/-]{0,20}\s+){5})\s*(.*)$/)
  if (/\.(?:service|timer|desktop)$|systemd|autostart/.test(path))
    return toLines(content, /^Exec\w{0,20}=[-@:+!]?(.*)$/)
  if (!path.endsWith('.plist')) return content
  const words = [...content.matchAll(/<string>([^<]{1,1000})<\/string>/g)].map(([, text]) => text!)
  // The first strings are the label and perhaps the path of the program.
  return words.map((text) => text.replaceAll('&amp;', '&').replaceAll('&gt;', '>').replaceAll('&lt;', '<')).join('\n')
}

/** The commands of the lines that match. */
function toLines(content: string, line: RegExp): string {
  return content
    .split('\n', 1000)
    .map((text) => line.exec(text)?.[1] ?? '')
    .filter((command) => command !== '')
    .join('\n')
}
