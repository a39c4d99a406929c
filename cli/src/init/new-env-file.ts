import { settingGroups, type SettingDescription } from '@berth/server/config/setting-descriptions.ts'

const width = 100

/** Text of a new settings file: every setting with its description, commented out at its default. */
export function newEnvFile(): string {
  const head = wrap(
    'Settings of Berth. "berth init" writes and changes this file, and keeps every line that it does not change. Check ' +
      'it with "berth config check"; "systemctl reload berth" makes Berth read it again. A setting of the environment ' +
      'takes precedence. Secrets are in files of their own: NAME_FILE.',
  )
  const groups = Object.entries<Readonly<Record<string, SettingDescription>>>(settingGroups)
  return [...head, ...groups.flatMap(([title, settings]) => ['', `# --- ${title} ---`, ...linesOf(settings)])]
    .map((line) => `${line}\n`)
    .join('')
}

const linesOf = (settings: Readonly<Record<string, SettingDescription>>) =>
  Object.entries(settings).flatMap(([name, { text, default: usual, isDefaultInWords, isSecret }]) => [
    '',
    ...wrap(plain(text) + (isDefaultInWords && usual !== 'none' ? ` Default: ${plain(usual)}.` : '')),
    isSecret ? `#${name}_FILE=` : `#${name}=${isDefaultInWords ? '' : usual}`,
  ])

/** Without the Markdown of the reference. */
const plain = (text: string) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')

function wrap(text: string): string[] {
  const lines = ['#']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line.length + word.length + 1 > width) lines.push(`# ${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}
