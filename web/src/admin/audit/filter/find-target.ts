import type { UsersResponse } from '@berth/api/schemas/administration/admin.ts'

/**
 * Resolves the text of the target field to a target of the log: an e-mail address or slug becomes its user's id, a
 * number is a user's id.
 * @param findUsers returns the users with this text in their address or slug
 * @returns undefined when no user has that address
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
