import { describe } from 'node:test';
import { script } from '@bomb.sh/tab';
import { Command, CommanderError } from 'commander';
import envSchema from 'env-schema';
import { holds } from './holds.ts';

describe('the command line', () => {
  holds(
    'commander repeats every word of a command that has one too many, a token too',
    () => {
      let said = '';
      const verify = new Command('verify').argument('[token]').exitOverride();
      verify.configureOutput({ writeErr: (text) => (said += text) });
      try {
        verify.parse(['token', 'of', 'somebody'], { from: 'user' });
      } catch (error) {
        if (!(error instanceof CommanderError)) throw error;
      }
      return said;
    },
    'error: too many arguments. Expected 1 argument but got 3: token, of, somebody.\n',
  );
});

describe('completions', () => {
  holds('the script of @bomb.sh/tab starts the program at each Tab, and has the shell evaluate what was typed so far', () => {
    let text = '';
    const { log } = console;
    console.log = (line: string) => (text += line);
    try {
      script('bash', 'todo-service', 'todo-service');
    } finally {
      console.log = log;
    }
    return text.match(/requestComp="todo-service \w+|eval .*(?=2>)/g);
  }, ['requestComp="todo-service complete', 'eval "$requestComp" ']);
});

describe('settings', () => {
  holds(
    'env-schema says of no value what was received',
    () => {
      const properties = {
        TODO_PORT: { type: 'integer' },
        TODO_PROFILE: { enum: ['shared-list', 'error-demo'] },
      };
      try {
        return envSchema({
          schema: { type: 'object', properties },
          data: { TODO_PORT: 'x', TODO_PROFILE: 'y' },
        });
      } catch (error) {
        return (error as Error).message;
      }
    },
    'env/TODO_PORT must be integer, env/TODO_PROFILE must be equal to one of the allowed values',
  );
});
