import js from '@eslint/js';
import globals from 'globals';

export default [
  { ignores: ['.venv/**', 'runs/**', 'docs/**'] },
  js.configs.recommended,
  {
    files: ['src/preplay/report/assets/*.js'],
    languageOptions: { globals: globals.browser },
    rules: { eqeqeq: 'error', 'no-shadow': 'error', 'prefer-const': 'error', 'no-var': 'error', 'no-unused-vars': ['error', { args: 'after-used', argsIgnorePattern: '^_' }] },
  },
  { files: ['tests/report/js/*.js', 'eslint.config.js'], languageOptions: { globals: globals.node } },
];
