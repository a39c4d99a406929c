import type { Words } from '#/messages/words.ts'

export const takeover: Words['takeover'] = {
  label: 'Du handelst für eine andere Person',
  anotherUser: 'eine andere Person',
  acting: 'Du handelst für <b>{whom}</b>, und die Person wird darüber informiert.',
  left: 'Das endet in {time}.',
  minutesLeft:
    '{minutes, plural, one {Du handelst noch eine Minute für {whom}.} other {Du handelst noch # Minuten für {whom}.}}',
  end: 'Beenden',
  ending: 'Wird beendet…',
  note: '<b>{by}</b> handelt bis {until} für dich. Grund: {reason}',
  noteLink: 'Ansehen oder beenden',
}
