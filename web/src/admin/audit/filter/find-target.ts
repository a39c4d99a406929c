import type { UsersResponse } from '@berth/api/schemas/admin.ts'

/**
 * What somebody typed as a target, as the log has it: an e-mail address or slug becomes the number of its user, a number
 * that of a user.
 * @param findUsers whoever has this in their address or slug
 * @returns undefined when nobody has that address
 */
export async function findTarget(
  typed: string,
  findUsers: (part: string) => Promise<UsersResponse['users']>,
): Promise<string | undefined> {
  const text = typed.trim()
  if (text === '' || /^[a-z][a-z-]*:./.test(text)) return text
  if (/^\d+$/.test(text)) return `user:${text}`
  const wanted = text.toLowerCase()
  const found = (await findUsers(wanted)).find(({ email, slug }) => email === wanted || slug === wanted)
  return found && `user:${found.id}`
}
