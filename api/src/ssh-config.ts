/**
 * An entry for `~/.ssh/config`.
 * @param server as `GET /api/ssh` has it @param name before the `@`: slug and type
 * @returns undefined for a name with a quote or a control character, which has no way into that file
 */
export function sshConfigEntry(
  { host, port }: { readonly host: string; readonly port: number },
  name: string,
): string | undefined {
  if (/["\p{Cc}]/u.test(name)) return undefined
  const quoted = quotedSshName(name)
  const lines = [`Host ${quoted}`, `HostName ${host}`, `Port ${port}`, `User ${quoted}`, 'ServerAliveInterval 60']
  return lines.join('\n  ')
}

/** A name as `~/.ssh/config` and a shell read it: types may be any text. */
export const quotedSshName = (name: string): string => (/^[\w.@:%-]+$/.test(name) ? name : `"${name}"`)
