#!/bin/sh
# pino-pretty 13.2.0 and pino 10.4.0: the least level to show, of a log whose levels are words.
# Guess: -L warn hides what pino wrote at info, also where formatters.level writes the word in place of the number.
# Seen: it hides nothing where levels are words; where they are numbers it works. And the member `name`, whoever wrote it,
# stands in front of the message as that of a logger, and no longer among the others.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund pino@10.4.0 pino-pretty@13.2.0
write() {
  node -e "const log = require('pino')({ base: undefined, formatters: { $1 } });
    log.info({ name: 'Ada' }, 'low'); log.warn('high');"
}
write 'level: (level) => ({ level })' >words
write '' >numbers
pretty() { node_modules/.bin/pino-pretty --no-colorize "$@"; }
words=$(pretty -L warn -S <words)
numbers=$(pretty -L warn -S <numbers)
printf 'Node.js %s\nwords:\n%s\nnumbers:\n%s\n' "$(node --version)" "$words" "$numbers"
echo "$words" | grep -q 'INFO (Ada): low$' && [ "$(echo "$numbers" | grep -c .)" = 1 ]
