/** Text of impersonation (takeover): for the administrator who acts, and for the user. */
export const takeover = {
  label: 'You act for another user',
  /** A user whose address is not loaded yet. */
  anotherUser: 'another user',
  acting: 'You act for <b>{whom}</b>, and they are informed.',
  left: 'It ends in {time}.',
  minutesLeft:
    '{minutes, plural, one {You act for {whom} for one more minute.} other {You act for {whom} for # more minutes.}}',
  end: 'End',
  ending: 'Ending…',
  note: '<b>{by}</b> acts for you until {until}. Their reason: {reason}',
  noteLink: 'View or end it',
} as const
