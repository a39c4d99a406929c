import { boot } from '#/api/api-client.ts'
import { parseSupportContact } from '#/support-contact/support-contact.ts'

/** Whom to ask, as the operator wrote it: pressed where it can be. Nothing where the operator says nothing. */
export function ContactLink() {
  if (boot.contact === null) return null
  const { text, href } = parseSupportContact(boot.contact)
  return href === undefined ? (
    text
  ) : (
    <a className="address" href={href}>
      {text}
    </a>
  )
}
